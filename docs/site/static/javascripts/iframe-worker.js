// Browsers refuse workers to a page that was opened from a file, and the search is a worker. This class
// runs the worker's script in a hidden frame instead, whose postMessage() leads to the page.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.waiting = [];
    const frame = document.createElement("iframe");
    frame.hidden = true;
    frame.title = "search";
    frame.addEventListener("load", () => this.start(frame.contentWindow, url), { once: true });
    document.body.append(frame);
  }

  start(scope, url) {
    scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = scope.document.createElement("script");
    script.src = url;
    script.addEventListener("load", () => {
      this.scope = scope;
      for (const data of this.waiting.splice(0)) this.postMessage(data);
    });
    scope.document.body.append(script);
  }

  // As in a worker, the message arrives after the caller's code has ended.
  postMessage(data) {
    if (this.scope === undefined) {
      this.waiting.push(data);
      return;
    }
    setTimeout(() => this.scope.dispatchEvent(new this.scope.MessageEvent("message", { data })));
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;

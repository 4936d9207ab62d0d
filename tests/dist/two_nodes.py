"""Two network namespaces as two nodes with a network link between them, for mpirun. Needs root and iproute2."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77  # the exit status of a test that cannot run here


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


def send_signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it has just ended


class TwoNodes:
    """The nodes, as a context manager. Skips the test where they cannot be made."""

    names = [f"halfgrad{os.getpid()}{node}" for node in "ab"]
    links = [f"hg{os.getpid()}{node}" for node in "ab"]

    def __enter__(self):
        if os.geteuid() != 0 or not shutil.which("ip"):
            skip("only root can link network namespaces, and iproute2 must be installed")
        try:
            for name in self.names:
                self.ip("netns", "add", name)
            self.ip("link", "add", self.links[0], "type", "veth", "peer", "name", self.links[1])
        except subprocess.CalledProcessError as error:
            self.remove()
            skip(f"no network namespaces here: {error.stderr.strip()}")
        for i, (name, link) in enumerate(zip(self.names, self.links)):
            self.ip("link", "set", link, "netns", name)
            self.ip("-n", name, "addr", "add", f"10.77.0.{i + 1}/24", "dev", link)
            self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("-n", name, "link", "set", link, "up")
        self.agent = self.write_agent()
        return self

    def __exit__(self, *_):
        os.remove(self.agent)
        self.remove()

    def remove(self):
        for name in self.names:
            pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
            for pid in pids.stdout.split():
                send_signal(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def ip(self, *arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)

    def write_agent(self):
        """A program that mpirun calls as `ssh HOST COMMAND`."""
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as agent:
            agent.write(f"#!/bin/sh\nshift\nexec ip netns exec {self.names[1]}"
                        ' unshare --uts sh -c "hostname nodeb; $*"\n')
        os.chmod(agent.name, 0o700)
        return agent.name

    def mpirun(self, variables=()):
        """The start of a command with two ranks on each node, which get these variables of the environment."""
        return ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c",
                'hostname nodea; exec "$@"', "sh",
                "mpirun", "--host", "10.77.0.1:2,10.77.0.2:2", "--mca", "plm_rsh_agent", self.agent,
                *(word for variable in variables for word in ("-x", variable)), "-n", "4"]

    def received_bytes(self):
        """Bytes that have come over the link to the first node."""
        path = f"/sys/class/net/{self.links[0]}/statistics/rx_bytes"
        result = subprocess.run(["ip", "netns", "exec", self.names[0], "cat", path], check=True,
                                capture_output=True, text=True)
        return int(result.stdout)

    def cut(self):
        self.ip("-n", self.names[0], "link", "set", self.links[0], "down")

#pragma once

namespace halfgrad::emulator {

/// The beginning of the report's page.
inline constexpr const char* kHtmlHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>halfgrad-emulate</title><style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5em auto; max-width: 68em; padding: 0 1em;
  color: #222; background: #fff; }
h1 { font-size: 1.5em; margin: 0; } h2 { font-size: 1.2em; margin: 1.6em 0 .4em; }
h3 { font: 600 1em monospace; margin: 1em 0 0; } p { margin: .4em 0; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
.summary { font-size: 1.1em; font-weight: 600; }
.finding { border-left: 4px solid #888; background: #f6f6f6; margin: .7em 0; padding: .5em .8em; }
.finding.error { border-color: #c00; } .finding.note { border-color: #c90; }
.finding h3 { font: inherit; font-weight: 600; margin: 0; }
.finding pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; color: #555; }
.finding pre.source { margin: .3em 0; padding: .2em .5em; background: #fff; color: #222; }
table { border-collapse: collapse; margin: .6em 0; }
th, td { padding: .15em .6em; text-align: right; vertical-align: top; }
th { border-bottom: 2px solid #999; font-weight: 600; font-size: .9em; }
th.text, td.text { text-align: left; } td code { white-space: pre-wrap; }
tr:nth-child(even) td { background: #f6f6f6; }
.predicted { font-style: italic; color: #046; } .explanation { color: #555; font-size: .93em; }
td.bad { color: #c00; font-weight: 600; }
</style></head><body><h1>halfgrad-emulate</h1>
)";

}  // namespace halfgrad::emulator

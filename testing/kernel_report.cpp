#include <halfgrad/testing/kernel_report.h>

#include <sstream>

#include <halfgrad/testing/bad_elements_report.h>
#include <halfgrad/testing/json_text.h>

namespace halfgrad::testing {
namespace {

/// Lines of a message, such as a traceback, below each other.
std::string indented(const std::string& message) {
  std::string result;
  for (const char c : message) result += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return result;
}

std::string escaped_xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string title(const KernelReport& report) {
  std::ostringstream text;
  const std::string parameters = to_string(report.parameters);
  text << report.op << (parameters.empty() ? "" : " with ") << parameters << ", " << report.dtype
       << " -> " << report.output << ", accumulated in " << report.accumulate;
  return text.str();
}

std::string json_of(const Dims& dims) {
  return "{\"m\": " + std::to_string(dims.m) + ", \"n\": " + std::to_string(dims.n) +
         ", \"k\": " + std::to_string(dims.k) +
         (dims.columns > 0 ? ", \"columns\": " + std::to_string(dims.columns) : "") + "}";
}

std::string json_of(const Values& values) {
  return "{\"shape\": " + to_string(values.sizes) + ", \"data\": [" +
         joined(values.data, json_number) + "]}";
}

std::string json_of(const ImpostorCount& count, std::string_view impostor) {
  return json_string(std::string(impostor)) + ": {\"tried\": " + std::to_string(count.tried) +
         ", \"accepted\": " + std::to_string(count.accepted) +
         (count.accepted > 0 ? ", \"first\": " + json_string(to_string(count.first)) : "") + "}";
}

}  // namespace

std::string to_text(const KernelReport& report) {
  const BudgetUse& use = report.use;
  std::ostringstream out;
  out << title(report) << ": "
      << (report.passed()                               ? "passed"
          : report.findings.empty() && report.checked() ? "NOT FINISHED"
          : report.checked()                            ? "FAILED"
                                                        : "NOT CHECKED, no element was judged")
      << ", " << report.cases << (report.cases == 1 ? " case\n" : " cases\n");
  for (const KernelFinding& finding : report.findings) {
    out << "  " << name(finding.fault) << " in " << finding.cases
        << (finding.cases == 1 ? " case" : " cases") << "; first: " << to_string(finding.first)
        << "\n    " << indented(finding.message) << '\n'
        << places_text(finding);
  }
  if (!report.unfinished.empty()) {
    out << "  ended early: " << report.unfinished << "; later cases did not run\n";
  }
  if (!report.repeated.empty()) {
    out << "  not made smaller: the smallest failing case " << report.repeated << '\n';
  }
  out << "  budget used   " << number_text(use.worst, 3) << " at most, in element "
      << index_tuple(report.worst.index, report.worst_shape)
      << (report.worst.output.empty() ? "" : " of ") << report.worst.output << " of "
      << to_string(report.worst_case) << "\n  by tenths     ";
  for (const std::int64_t count : use.histogram) out << count << ' ';
  out << "over: " << use.over << ", not judged: " << use.unjudged << "\n  ulps          "
      << number_text(use.mean_ulps(), 3) << " mean, " << number_text(use.max_ulps, 3)
      << " at most, " << number_text(use.bias(), 2) << " bias\n  error         "
      << number_text(use.relative_to_low_precision(), 3)
      << " times that of the same maths with each operation rounded to " << report.output
      << "\n  vacuous for   "
      << joined(kAllImpostors,
                [&](Impostor impostor) {
                  const ImpostorCount& count = report.impostors[static_cast<std::size_t>(impostor)];
                  return std::string(name(impostor)) + ' ' + std::to_string(count.accepted) +
                         " of " + std::to_string(count.tried);
                })
      << " cases\n";
  out << "  seed          " << report.seed;
  if (report.fresh_seed) out << ", of repeated calls " << *report.fresh_seed;
  out << '\n';
  for (const std::string& warning : report.warnings()) out << "  warning: " << warning << '\n';
  if (!report.shrunk) return out.str();
  const ShrunkCase& shrunk = *report.shrunk;
  out << "  smallest case m = " << shrunk.dims.m << ", n = " << shrunk.dims.n
      << ", k = " << shrunk.dims.k
      << (shrunk.dims.columns > 0 ? ", columns = " + std::to_string(shrunk.dims.columns) : "")
      << ", " << name(shrunk.fault) << ": " << shrunk.message.substr(0, shrunk.message.find('\n'))
      << '\n';
  for (std::size_t i = 0; i < shrunk.operands.size(); ++i) {
    out << "    input " << i << ' ' << to_string(shrunk.operands[i].sizes) << ": "
        << values_text(shrunk.operands[i]) << '\n';
  }
  return out.str();
}

std::string to_json(const KernelReport& report) {
  const BudgetUse& use = report.use;
  std::ostringstream out;
  out << "{\"schema_version\": " << kReportSchemaVersion << ", \"op\": " << json_string(report.op)
      << ", \"dtype\": \"" << report.dtype << "\", \"output\": \"" << report.output
      << "\", \"accumulate\": \"" << report.accumulate
      << "\", \"parameters\": " << to_json(report.parameters)
      << ", \"passed\": " << (report.passed() ? "true" : "false")
      << ", \"checked\": " << (report.checked() ? "true" : "false")
      << ", \"cases\": " << report.cases << ", \"elements\": " << use.elements
      << ", \"unjudged\": " << use.unjudged << ", \"over_budget\": " << use.over
      << ", \"histogram\": ["
      << joined(use.histogram, [](std::int64_t count) { return std::to_string(count); })
      << "], \"budget_used\": " << json_number(use.worst)
      << ", \"max_ulps\": " << json_number(use.max_ulps)
      << ", \"mean_ulps\": " << json_number(use.mean_ulps())
      << ", \"bias_ulps\": " << json_number(use.bias())
      << ", \"relative_to_low_precision\": " << json_number(use.relative_to_low_precision())
      << ", \"worst\": {\"case\": " << json_string(to_string(report.worst_case))
      << ", \"output\": " << json_string(report.worst.output)
      << ", \"element\": " << report.worst.index
      << ", \"index\": " << index_list(report.worst.index, report.worst_shape)
      << ", \"got\": " << json_number(report.worst.got)
      << ", \"expected\": " << json_number(report.worst.expected)
      << ", \"allowed\": " << json_number(report.worst.allowed) << "}, \"findings\": ["
      << joined(report.findings,
                [](const KernelFinding& finding) {
                  return "{\"fault\": " + json_string(name(finding.fault)) +
                         ", \"message\": " + json_string(finding.message) +
                         ", \"case\": " + json_string(to_string(finding.first)) +
                         ", \"cases\": " + std::to_string(finding.cases) + places_json(finding) +
                         "}";
                })
      << "], \"unfinished\": " << json_string(report.unfinished)
      << ", \"repeated\": " << json_string(report.repeated) << ", \"impostors\": {"
      << joined(kAllImpostors,
                [&](Impostor impostor) {
                  return json_of(report.impostors[static_cast<std::size_t>(impostor)],
                                 name(impostor));
                })
      << "}, \"warnings\": [" << joined(report.warnings(), json_string)
      << "], \"seed\": " << report.seed
      << ", \"fresh_seed\": " << (report.fresh_seed ? std::to_string(*report.fresh_seed) : "null");
  if (report.shrunk) {
    out << ", \"breaks_at_k\": " << report.breaks_at_k()
        << ", \"smallest_case\": {\"fault\": " << json_string(name(report.shrunk->fault))
        << ", \"message\": " << json_string(report.shrunk->message)
        << ", \"dims\": " << json_of(report.shrunk->dims) << ", \"operands\": ["
        << joined(report.shrunk->operands, [](const Values& x) { return json_of(x); }) << "]}";
  }
  out << "}";
  return out.str();
}

std::string to_junit(const std::vector<KernelReport>& reports) {
  std::size_t failures = 0, errors = 0;
  for (const KernelReport& report : reports) {
    failures += report.findings.empty() ? 0 : 1;
    errors += report.checked() ? 0 : 1;
  }
  std::ostringstream out;
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"halfgrad-check\" tests=\""
      << reports.size() << "\" failures=\"" << failures << "\" errors=\"" << errors << "\">\n";
  for (const KernelReport& report : reports) {
    out << "  <testcase classname=\"" << escaped_xml(report.op) << "\" name=\""
        << escaped_xml(title(report)) << "\">\n";
    for (const KernelFinding& finding : report.findings) {
      out << "    <failure type=\"" << name(finding.fault) << "\" message=\""
          << escaped_xml(finding.message) << "\">" << escaped_xml(to_string(finding.first))
          << "</failure>\n";
    }
    if (!report.checked()) {
      out << "    <error type=\"not checked\" message=\"no element was judged\"/>\n";
    }
    out << "  </testcase>\n";
  }
  out << "</testsuite>\n";
  return out.str();
}

}  // namespace halfgrad::testing

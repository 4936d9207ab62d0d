#include <halfgrad/report/write_csv.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include <halfgrad/autograd/precision.h>

namespace halfgrad::report {
namespace {

/// Quotes a field as RFC 4180 does, if it has to be.
std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

/// A number, or nothing for one that is inf or NaN.
std::string field(double value) {
  if (!std::isfinite(value)) return "";
  std::ostringstream text;
  text.precision(std::numeric_limits<float>::max_digits10);
  text << value;
  return text.str();
}

/// Calls write(out, "3,", run) for each run, where 3 is the run's index: a table of its own has
/// the names.
template <class Write>
std::string table(const PageRecord& page, const char* header, const Write& write) {
  std::ostringstream out;
  out << header << '\n';
  for (std::size_t i = 0; i < page.runs.size(); ++i) {
    write(out, std::to_string(i) + ',', page.runs[i]);
  }
  return out.str();
}

}  // namespace

std::string runs_csv(const PageRecord& page) {
  const auto write = [](std::ostream& out, const std::string& run_index, const RunRecord& run) {
    out << run_index << field(run.task) << ',' << field(run.name) << ',' << field(run.device) << ','
        << run.steps.steps() << ',' << run.skipped << ',' << field(run.median_seconds) << ','
        << run.peak_bytes << '\n';
  };
  return table(page, "run,task,name,device,steps,skipped,median_seconds,peak_bytes", write);
}

std::string steps_csv(const PageRecord& page) {
  const auto write = [](std::ostream& out, const std::string& run_index, const RunRecord& run) {
    for (const StepRow& row : run.steps.rows()) {
      out << run_index << row.step << ',' << row.steps << ',' << row.nonfinite << ','
          << field(row.loss) << ',' << field(row.score) << ',' << field(row.scale) << ','
          << field(row.seconds) << ',' << row.bytes << '\n';
    }
  };
  return table(page, "run,step,steps,nonfinite,loss,score,scale,seconds,bytes", write);
}

std::string exponents_csv(const PageRecord& page) {
  const auto write = [](std::ostream& out, const std::string& run_index, const RunRecord& run) {
    for (const Exponents& sample : run.exponents.items()) {
      for (const amp::GradientRange& place : sample.places) {
        const std::string start = run_index + std::to_string(sample.step) + ',' +
                                  field(place.name) + ',' + std::string(name(place.dtype)) + ',';
        const auto line = [&](const std::string& exponent, auto&& count) {
          const std::int64_t unscaled = count(place.unscaled), scaled = count(place.scaled);
          if (unscaled == 0 && scaled == 0) return;
          out << start << exponent << ',' << unscaled << ',' << scaled << '\n';
        };
        line("zero", [](const auto& histogram) { return histogram.zeros(); });
        for (int e = amp::ExponentHistogram::kFirst; e <= amp::ExponentHistogram::kLast; ++e) {
          line(std::to_string(e), [e](const auto& histogram) { return histogram.count(e); });
        }
        line("inf", [](const auto& histogram) { return histogram.infinities(); });
        line("nan", [](const auto& histogram) { return histogram.nans(); });
      }
    }
  };
  return table(page, "run,step,gradient,dtype,exponent,unscaled,scaled", write);
}

std::string ops_csv(const PageRecord& page) {
  const auto write = [](std::ostream& out, const std::string& run_index, const RunRecord& run) {
    for (const amp::OpSummary& row : run.ops.rows) {
      out << run_index << run.ops.step << ',' << row.op << ',' << name(row.precision) << ','
          << name(row.run_dtype) << ',' << row.calls << ',' << row.casts_made << ','
          << row.casts_cached << ',' << row.bytes_cast << ',' << row.promoted << '\n';
    }
  };
  return table(page, "run,step,op,class,dtype,calls,casts,cached,bytes_cast,promoted", write);
}

std::string costs_csv(const PageRecord& page) {
  const auto write = [](std::ostream& out, const std::string& run_index, const RunRecord& run) {
    for (const amp::OpTime& row : run.costs.rows) {
      out << run_index << run.costs.steps << ',' << row.op << ',' << field(row.module) << ','
          << row.part_of << ',' << name(row.dtype) << ','
          << (row.is_backward ? "backward" : "forward") << ',' << row.calls << ','
          << field(row.self_seconds) << ',' << row.result_bytes << ',' << row.peak_live_bytes
          << '\n';
    }
  };
  return table(page, "run,steps,op,module,part_of,dtype,pass,calls,seconds,bytes,peak_live_bytes",
               write);
}

}  // namespace halfgrad::report

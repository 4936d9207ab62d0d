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

std::string run_fields(const RunRecord& run) { return field(run.task) + ',' + field(run.name); }

}  // namespace

std::string steps_csv(const PageRecord& page) {
  std::ostringstream out;
  out << "task,run,step,steps,nonfinite,loss,score,scale,seconds,bytes\n";
  for (const RunRecord& run : page.runs) {
    for (const StepRow& row : run.steps.rows()) {
      out << run_fields(run) << ',' << row.step << ',' << row.steps << ',' << row.nonfinite << ','
          << field(row.loss) << ',' << field(row.score) << ',' << field(row.scale) << ','
          << field(row.seconds) << ',' << row.bytes << '\n';
    }
  }
  return out.str();
}

std::string exponents_csv(const PageRecord& page) {
  std::ostringstream out;
  out << "task,run,step,scale,gradient,dtype,exponent,unscaled,scaled\n";
  for (const RunRecord& run : page.runs) {
    for (const Exponents& sample : run.exponents.items()) {
      for (const amp::GradientRange& place : sample.places) {
        const std::string start = run_fields(run) + ',' + std::to_string(sample.step) + ',' +
                                  field(sample.scale) + ',' + field(place.name) + ',' +
                                  std::string(name(place.dtype)) + ',';
        const auto line = [&](const std::string& exponent, std::int64_t unscaled,
                              std::int64_t scaled) {
          if (unscaled == 0 && scaled == 0) return;
          out << start << exponent << ',' << unscaled << ',' << scaled << '\n';
        };
        line("zero", place.unscaled.zeros(), place.scaled.zeros());
        for (int e = amp::ExponentHistogram::kFirst; e <= amp::ExponentHistogram::kLast; ++e) {
          line(std::to_string(e), place.unscaled.count(e), place.scaled.count(e));
        }
        line("inf", place.unscaled.infinities(), place.scaled.infinities());
        line("nan", place.unscaled.nans(), place.scaled.nans());
      }
    }
  }
  return out.str();
}

std::string ops_csv(const PageRecord& page) {
  std::ostringstream out;
  out << "task,run,step,op,class,dtype,calls,casts,cached,bytes_cast,promoted\n";
  for (const RunRecord& run : page.runs) {
    for (const amp::OpSummary& row : run.ops.rows) {
      out << run_fields(run) << ',' << run.ops.step << ',' << row.op << ',' << name(row.precision)
          << ',' << name(row.run_dtype) << ',' << row.calls << ',' << row.casts_made << ','
          << row.casts_cached << ',' << row.bytes_cast << ',' << row.promoted << '\n';
    }
  }
  return out.str();
}

}  // namespace halfgrad::report

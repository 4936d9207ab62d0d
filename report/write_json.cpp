#include <halfgrad/report/write_json.h>

#include <algorithm>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/report/json_writer.h>

namespace halfgrad::report {
namespace {

/// Writes one field of all rows as an array: shorter than an object for each row.
template <class Rows, class Write>
void column(JsonWriter& json, const char* name, const Rows& rows, const Write& write) {
  json.key(name).begin('[');
  for (const auto& row : rows) write(row);
  json.end(']');
}

void write_steps(JsonWriter& json, const StepSeries& series) {
  const auto& rows = series.rows();
  const auto integers = [&](const char* name, std::int64_t StepRow::*field) {
    column(json, name, rows, [&](const StepRow& row) { json.integer(row.*field); });
  };
  const auto reals = [&](const char* name, double StepRow::*field) {
    column(json, name, rows, [&](const StepRow& row) { json.rounded(row.*field); });
  };
  json.key("steps").begin('{').key("total").integer(series.steps());
  integers("step", &StepRow::step);
  integers("steps", &StepRow::steps);
  integers("nonfinite", &StepRow::nonfinite);
  reals("loss", &StepRow::loss);
  reals("score", &StepRow::score);
  reals("scale", &StepRow::scale);
  reals("seconds", &StepRow::seconds);
  integers("bytes", &StepRow::bytes);
  json.end('}');
}

void write_changes(JsonWriter& json, const std::vector<ScaleChange>& changes) {
  json.key("scale_changes").begin('[');
  for (const ScaleChange& change : changes) {
    json.begin('{').key("step").integer(change.step).key("scale").real(change.scale);
    json.key("next_scale").real(change.next_scale).key("skipped").boolean(change.skipped);
    json.key("event").text(change.event).key("cause").text(change.cause).end('}');
  }
  json.end(']');
}

void write_counts(JsonWriter& json, const char* name, const amp::ExponentHistogram& histogram) {
  int first = amp::ExponentHistogram::kFirst, last = amp::ExponentHistogram::kLast;
  while (first <= last && histogram.count(first) == 0) ++first;
  while (last > first && histogram.count(last) == 0) --last;
  json.key(name).begin('{').key("first").integer(first).key("counts").begin('[');
  for (int exponent = first; exponent <= last; ++exponent) json.integer(histogram.count(exponent));
  json.end(']').end('}');
}

void write_place(JsonWriter& json, const amp::GradientRange& place, bool is_scaled) {
  json.begin('{').key("name").text(place.name).key("parameter").boolean(place.is_parameter);
  json.key("dtype").text(name(place.dtype)).key("zeros").integer(place.scaled.zeros());
  json.key("infinities").integer(place.scaled.infinities());
  json.key("nans").integer(place.scaled.nans());
  json.key("lost_without_scale").integer(place.lost_without_scale());
  json.key("lost_with_scale").integer(place.lost_with_scale());
  write_counts(json, "unscaled", place.unscaled);
  if (is_scaled) write_counts(json, "scaled", place.scaled);
  json.end('}');
}

void write_exponents(JsonWriter& json, const std::vector<Exponents>& samples) {
  json.key("exponents").begin('[');
  for (const Exponents& sample : samples) {
    const amp::Recommendation& best = sample.recommendation;
    json.begin('{').key("step").integer(sample.step).key("scale").real(sample.scale);
    json.key("recommended_scale").real(best.scale).key("want_bfloat16").begin('[');
    for (const std::string& place : best.want_bfloat16) json.text(place);
    json.end(']').key("places").begin('[');
    for (const amp::GradientRange& place : sample.places) {
      write_place(json, place, sample.scale != 1);
    }
    json.end(']').end('}');
  }
  json.end(']');
}

void write_ops(JsonWriter& json, const Ops& ops) {
  json.key("ops").begin('{').key("step").integer(ops.step).key("rows").begin('[');
  for (const amp::OpSummary& row : ops.rows) {
    json.begin('{').key("op").text(row.op).key("class").text(name(row.precision));
    json.key("dtype").text(name(row.run_dtype)).key("calls").integer(row.calls);
    json.key("casts").integer(row.casts_made).key("cached").integer(row.casts_cached);
    json.key("bytes_cast").integer(row.bytes_cast).key("promoted").integer(row.promoted).end('}');
  }
  json.end(']').key("promoted").begin('[');
  for (const std::string& sentence : ops.promoted) json.text(sentence);
  json.end(']').end('}');
}

void write_costs(JsonWriter& json, const Costs& costs) {
  json.key("costs").begin('{').key("steps").integer(costs.steps);
  json.key("seconds").real(costs.seconds).key("rows").begin('[');
  for (const amp::OpTime& row : costs.rows) {
    json.begin('{').key("op").text(row.op).key("module").text(row.module);
    json.key("part_of").text(row.part_of).key("dtype").text(name(row.dtype));
    json.key("backward").boolean(row.is_backward).key("calls").integer(row.calls);
    json.key("seconds").rounded(row.self_seconds).key("bytes").integer(row.result_bytes);
    json.key("peak_live_bytes").integer(row.peak_live_bytes).end('}');
  }
  json.end(']').end('}');
}

void write_launches(JsonWriter& json, const std::vector<Launches>& launches) {
  json.key("launches").begin('[');
  for (const Launches& row : launches) {
    json.begin('{').key("name").text(row.name).key("times").integer(row.times);
    json.key("bytes").real(row.bytes).end('}');
  }
  json.end(']');
}

void write_run(JsonWriter& json, const RunRecord& run) {
  json.begin('{').key("name").text(run.name).key("task").text(run.task);
  json.key("score").text(run.score).key("device").text(run.device);
  json.key("has_scaler").boolean(run.has_scaler).key("every").integer(run.every);
  json.key("skipped").integer(run.skipped).key("median_seconds").real(run.median_seconds);
  json.key("peak_bytes").integer(run.peak_bytes).key("results").begin('{');
  for (const auto& [name, value] : run.results) json.key(name).real(value);
  json.end('}');
  write_steps(json, run.steps);
  write_changes(json, run.changes);
  json.key("scale_changes_left_out").integer(run.changes_left_out);
  write_exponents(json, run.exponents.items());
  write_ops(json, run.ops);
  write_costs(json, run.costs);
  write_launches(json, run.launches);
  json.end('}');
}

}  // namespace

std::string json_of(const PageRecord& page) {
  JsonWriter json;
  json.begin('{').key("format").text("halfgrad report").key("version").integer(kSchemaVersion);
  json.key("title").text(page.title).key("command").text(page.command);
  json.key("threads").integer(page.threads).key("interrupted").boolean(page.interrupted);
  json.key("notes").begin('[');
  for (const std::string& note : page.notes) json.text(note);
  json.end(']').key("runs").begin('[');
  for (const RunRecord& run : page.runs) write_run(json, run);
  json.end(']').end('}');
  return json.str();
}

}  // namespace halfgrad::report

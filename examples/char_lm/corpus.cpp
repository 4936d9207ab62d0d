#include "corpus.h"

#include <stdexcept>
#include <string_view>

#include <fmt/core.h>

#include "options.h"

namespace data = halfgrad::data;

namespace {

constexpr std::string_view kNames =
    "ada\nadela\nalba\nalena\nalina\nalma\nalva\namelie\nanders\nanna\nannika\nanton\narlo\narne\n"
    "astrid\nbela\nbenno\nbera\nbirger\nbirte\nbjarne\nbo\nbruno\ncara\ncarla\ncelia\nclara\ndana\n"
    "daria\ndelia\ndora\nedda\neino\nelara\nelena\nelin\nella\nelma\nelna\nemil\nenno\nerna\nesra\n"
    "fiete\nfinja\nflora\nfreya\ngerda\ngrete\nhanna\nheike\nhelma\nida\nilona\nilse\nina\ningrid\n"
    "iris\njanne\njonna\njoris\njule\nkaja\nkalle\nkarla\nlara\nlasse\nlea\nlena\nlevke\nlina\nlott"
    "e\n"
    "luna\nmaja\nmalin\nmalte\nmara\nmarla\nmats\nmerle\nmila\nmina\nmoritz\nnele\nnils\nnora\nole"
    "\n"
    "olga\nosk\npaula\npetra\npia\nrasmus\nriva\nrosa\nruna\nselma\nsilja\nsina\nsvea\nsven\nthea\n"
    "tilda\ntorben\nulla\nuna\nvera\nwanda\nwilma\nyara\nyrsa\nzoe\n";

constexpr std::string_view kProse =
    "A number came to the gate of a small house and asked to be let in.\n"
    "How long are you, said the gate.\n"
    "Twenty-four binary digits, said the number, and an exponent, and a sign.\n"
    "Then you are too long, said the gate. The rooms in this house hold eleven.\n"
    "But I have come a long way, said the number, and my last digits are dear to me.\n"
    "So round yourself, said the gate, to the nearest that fits, and if you stand\n"
    "right between two of them, take the even one, and nobody will complain.\n"
    "The number rounded itself, and went in, and found the house full of others\n"
    "who had been rounded, and who multiplied each other all day long.\n"
    "At night they met in a hall with a high ceiling, where sums are kept.\n"
    "Here everybody may be long again, said the keeper of the hall, for what is\n"
    "added a thousand times must not be rounded a thousand times.\n"
    "One evening a very small number knocked at the gate, so small that the gate\n"
    "did not see it, and it was nought before it could say its name.\n"
    "That will not do, said the keeper. Tomorrow I shall make all of you larger,\n"
    "by the same power of two, before you come, and smaller after you have gone.\n"
    "And if one of us grows too large, asked the numbers.\n"
    "Then we forget that day, said the keeper, and make you half as large the next.\n"
    "So it was done, and the small ones were seen, and the house learned from them.\n";

std::string text_of(const Options& options) {
  if (!options.data.empty()) return data::read_text(options.data);
  return std::string(options.model == "mlp" ? kNames : kProse);
}

std::optional<std::int64_t> line_end_of(const data::Alphabet& alphabet, const std::string& text) {
  if (text.find('\n') == text.npos) return std::nullopt;
  return alphabet.encode("\n")[0];
}

}  // namespace

Corpus::Corpus(const Options& options) : Corpus(options, text_of(options)) {}

Corpus::Corpus(const Options& options, const std::string& text)
    : alphabet(text),
      by_line(options.model == "mlp"),
      context(options.context),
      line_end(line_end_of(alphabet, text)) {
  const auto all = alphabet.encode(text);
  const auto test_begin = std::ssize(all) * 9 / 10;
  std::int64_t line = 0;
  for (std::int64_t i = 0; i < std::ssize(all); ++i) {
    const bool is_test = by_line ? line % 10 == 9 : i >= test_begin;
    (is_test ? validation : train).push_back(all[static_cast<std::size_t>(i)]);
    if (all[static_cast<std::size_t>(i)] == line_end) ++line;
  }
  if (by_line && validation.empty()) {
    throw std::invalid_argument("mlp: expected a text of 10 lines or more, got a shorter one");
  }
  if (!by_line && std::ssize(validation) <= context) {
    throw std::invalid_argument(fmt::format(
        "gpt: expected a longer text, with more characters in its last tenth than the {} of "
        "--context, got {}",
        context, validation.size()));
  }
}

data::DataLoader Corpus::loader(const std::vector<std::int64_t>& text,
                                data::DataLoaderArguments options) const {
  if (by_line) return data::DataLoader(data::LineContexts(text, *line_end, context), options);
  return data::DataLoader(data::TextBlocks(text, context), options);
}

#pragma once

/// The files of report/page/, which CMake puts into the library (report/embed.cmake).
namespace halfgrad::report::page_files {

extern const char* const kMarkup;  ///< page.html
extern const char* const kStyle;   ///< page.css
extern const char* const kScript;  ///< the scripts, one after the other

}  // namespace halfgrad::report::page_files

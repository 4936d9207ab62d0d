'use strict';

/** Text of values for people: powers of two, bytes, seconds, shares. */
const format = {
  /** Four significant digits; very small and very large values as powers of ten. */
  real(value) {
    if (value === null || Number.isNaN(value)) return 'none';
    if (value === 0) return '0';
    const size = Math.abs(value);
    if (size >= 1e-3 && size < 1e6) return String(Number(value.toPrecision(4)));
    const [digits, exponent] = value.toExponential(2).split('e');
    const factor = Number(digits);
    return (factor === 1 ? '' : factor + ' × ') + '10' + format.raised(Number(exponent));
  },

  /** An exponent in superscript digits: ⁻²⁴. */
  raised(exponent) {
    return String(exponent).replace('-', '⁻').replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]);
  },

  power(exponent) { return '2' + format.raised(exponent); },

  /** A scale: 65536 = 2¹⁶ if it is a power of two. */
  scale(value) {
    if (value === null) return 'none';
    const exponent = Math.log2(value);
    if (!Number.isInteger(exponent)) return format.real(value);
    return Math.abs(exponent) < 4 ? String(value) : format.power(exponent);
  },

  integer(value) { return value === null ? 'none' : value.toLocaleString('en-US'); },

  bytes(value) {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      ++unit;
    }
    return `${Number(value.toPrecision(3))} ${units[unit]}`;
  },

  seconds(value) {
    if (value === null) return 'none';
    if (value === 0) return '0 s';
    const units = [['s', 1], ['ms', 1e-3], ['µs', 1e-6], ['ns', 1e-9]];
    const [unit, size] = units.find(([, each]) => value >= each) ?? ['ns', 1e-9];
    return `${Number((value / size).toPrecision(3))} ${unit}`;
  },

  share(value) {
    if (value === 0) return '0 %';
    const percent = 100 * value;
    return percent < 0.01 ? 'below 0.01 %' : `${Number(percent.toPrecision(3))} %`;
  },
};

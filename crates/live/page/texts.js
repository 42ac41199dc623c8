"use strict";
// Formats figures as text.

const texts = {
  milliseconds(value) {
    if (value === null) return "–";
    if (value === 0) return "0";
    if (value < 1) return `${digits(value * 1e3)} µs`;
    if (value < 1e3) return `${digits(value)} ms`;
    return `${digits(value / 1e3)} s`;
  },
  rate: (value) => (value === null ? "–" : `${number(value)}/s`),
  number: (value) => (value === null ? "–" : number(value)),
  percent: (value) => (value === null ? "–" : `${digits(value * 100)}%`),
};

function digits(value) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 3)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

function number(value) {
  const rounded = Math.abs(value) < 100 ? digits(value) : Math.round(value).toString();
  return rounded.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
}

function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part) => String(part).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

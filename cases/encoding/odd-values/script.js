import encoding from 'k6/encoding';
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export default function () {
  for (const value of ['', 'a', '\u00e9\u20ac\ud83d\ude00', '\ud800', 5, null, undefined, true, [1, 2], {}, new Uint8Array([255, 0]), new Uint16Array([1, 2]), new ArrayBuffer(2), new DataView(new ArrayBuffer(1))]) {
    for (const kind of ['std', 'rawstd', 'url', 'rawurl', 'nope', undefined]) attempt(String(kind), () => encoding.b64encode(value, kind));
  }
  for (const value of ['', 'YQ==', 'YQ', 'YQ=', 'Y Q==', 'Y\nQ==', '!!', 'YWJj', null, undefined, 5]) {
    for (const kind of ['std', 'rawstd', 'url', 'rawurl']) {
      attempt(`${value} ${kind} text`, () => encoding.b64decode(value, kind, 's'));
      attempt(`${value} ${kind} bytes`, () => new Uint8Array(encoding.b64decode(value, kind)).join());
    }
  }
}

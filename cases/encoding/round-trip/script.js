import { b64encode, b64decode } from 'k6/encoding';
export default function () {
  for (const text of ['', 'f', 'fo', 'foo', 'foob', 'üñí', '😀', 'a\0b', '\ud83d']) {
    for (const kind of ['std', 'rawstd', 'url', 'rawurl']) { const packed = b64encode(text, kind); console.log(kind, packed, JSON.stringify(b64decode(packed, kind, 's')), b64decode(packed, kind).byteLength); }
  }
}

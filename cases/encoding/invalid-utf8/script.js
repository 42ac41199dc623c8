import { b64encode, b64decode } from 'k6/encoding';
export default function () {
  for (const bytes of [[255], [0xc3], [0xc3, 0x28], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xed, 0xa0, 0x80], [65, 255, 66]]) {
    const text = b64decode(b64encode(new Uint8Array(bytes).buffer), 'std', 's');
    console.log(bytes.join(), text.length, [...text].map((c) => c.codePointAt(0).toString(16)).join());
  }
}

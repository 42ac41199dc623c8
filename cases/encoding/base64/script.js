import { b64encode, b64decode } from 'k6/encoding';
export default function () {
  for (const form of [undefined, 'std', 'rawstd', 'url', 'rawurl']) {
    const text = b64encode('häl?o>>', form);
    console.log(String(form), text, b64decode(text, form, 's'), b64decode(text, form).byteLength);
  }
  console.log(b64encode(new Uint8Array([0, 255, 254]).buffer), b64encode(''), new Uint8Array(b64decode('AP/+')).join());
  for (const bad of ['%%%', 'YQ', 'YQ==']) { try { console.log(b64decode(bad, 'std', 's')); } catch (e) { console.log('threw', String(e.message || e)); } }
  try { console.log(b64encode('a', 'odd')); } catch (e) { console.log('threw', String(e.message || e)); }
}

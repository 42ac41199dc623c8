const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
const three = new Uint8Array([1, 2, 3]);
export default async function () {
  for (const [name, data] of [['SHA-1', three], ['sha-256', three], ['Sha-384', three.buffer], [{ name: 'SHA-512' }, three], ['SHA-1', new Uint8Array(0)], ['SHA-1', three.subarray(1)], ['SHA-1', new DataView(three.buffer, 1)], ['SHA-1', new Uint16Array([1, 2])], ['MD5', three], ['', three]]) {
    try { console.log(JSON.stringify(name), hex(await crypto.subtle.digest(name, data))); } catch (e) { console.log(JSON.stringify(name), 'threw', e.name); }
  }
}

const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
const text = new Uint8Array([112, 108, 105, 109, 115, 111, 108, 108]);
export default async function () {
  for (const length of [16, 24, 32]) {
    for (const algorithm of [{ name: 'AES-CBC', iv: new Uint8Array(16).fill(1) }, { name: 'AES-CTR', counter: new Uint8Array(16).fill(2), length: 64 }, { name: 'AES-GCM', iv: new Uint8Array(12).fill(3) }]) {
      try {
        const key = await crypto.subtle.importKey('raw', new Uint8Array(length).fill(9), algorithm.name, true, ['encrypt', 'decrypt']);
        const sealed = await crypto.subtle.encrypt(algorithm, key, text);
        console.log(algorithm.name, length, hex(sealed), hex(await crypto.subtle.decrypt(algorithm, key, sealed)));
      } catch (e) { console.log(algorithm.name, length, 'threw', e.name); }
    }
  }
}

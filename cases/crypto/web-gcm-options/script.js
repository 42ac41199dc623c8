const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
export default async function () {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, ['encrypt', 'decrypt']);
  const iv = new Uint8Array(12), data = new Uint8Array([1, 2, 3]);
  for (const options of [{}, { additionalData: new Uint8Array([5]) }, { tagLength: 128 }, { tagLength: 96 }, { tagLength: 104 }, { tagLength: 32 }, { tagLength: 5 }, { iv: new Uint8Array(16) }, { iv: new Uint8Array(0) }, { iv: undefined }]) {
    const algorithm = Object.assign({ name: 'AES-GCM', iv }, options);
    try { const sealed = await crypto.subtle.encrypt(algorithm, key, data); console.log(Object.keys(options).join(), options.tagLength, hex(sealed), hex(await crypto.subtle.decrypt(algorithm, key, sealed))); } catch (e) { console.log(Object.keys(options).join(), options.tagLength, 'threw', e.name); }
  }
  try { await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, new Uint8Array(20)); } catch (e) { console.log('tampered', e.name); }
}

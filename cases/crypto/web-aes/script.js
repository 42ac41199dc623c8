const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
export default async function () {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, ['encrypt', 'decrypt']);
  const iv = new Uint8Array(12);
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, new Uint8Array([1, 2, 3]));
  console.log(hex(sealed), hex(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed)), hex(await crypto.subtle.exportKey('raw', key)));
  const cbc = await crypto.subtle.importKey('raw', new Uint8Array(32), 'AES-CBC', false, ['encrypt']);
  console.log(hex(await crypto.subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, cbc, new Uint8Array([9]))));
}

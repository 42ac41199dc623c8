export default async function () {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt', 'encrypt']);
  console.log(key.type, key.extractable, key.usages.join(), JSON.stringify(key.algorithm), typeof CryptoKey, Object.prototype.toString.call(key));
  for (const name of ['type', 'extractable', 'usages', 'algorithm']) { try { key[name] = 'x'; console.log(name, key[name] === 'x'); } catch (e) { console.log(name, 'threw', e.name); } }
  console.log(typeof crypto.subtle, Object.keys(crypto).sort().join(), typeof crypto.subtle.encrypt);
}

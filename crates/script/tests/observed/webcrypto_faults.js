async function observe(name, body) {
  try {
    await body();
    console.log(name + ' is done');
  } catch (e) {
    console.log(name + ' threw ' + e.name);
  }
}

export default async function () {
  const subtle = crypto.subtle;
  const bytes = new Uint8Array([1, 2, 3, 4]);
  const sha256 = { name: 'HMAC', hash: 'SHA-256' };
  const hidden = await subtle.importKey('raw', bytes, sha256, false, ['sign']);
  const open = await subtle.importKey('raw', bytes, sha256, true, ['verify']);
  await observe('wrong format', () => subtle.importKey('spki', bytes, sha256, true, ['sign']));
  await observe('export in a wrong format', () => subtle.exportKey('spki', open));
  await observe('export of a hidden key', () => subtle.exportKey('raw', hidden));
  await observe('missing usage', () => subtle.sign('HMAC', open, bytes));
  await observe('wrong usage', () => subtle.importKey('raw', bytes, sha256, true, ['encrypt']));
  await observe('empty key', () => subtle.importKey('raw', new Uint8Array(0), sha256, true, ['sign']));
  await observe('wrong length', () => subtle.generateKey({ name: 'AES-CBC', length: 100 }, true, ['encrypt']));
  await observe('unknown digest', () => subtle.digest('MD5', bytes));
}

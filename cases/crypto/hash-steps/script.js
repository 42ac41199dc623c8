import { createHash } from 'k6/crypto';
export default function () {
  const hash = createHash('sha1');
  console.log(hash.digest('hex'));
  console.log(hash.update('a'), hash.digest('hex'), hash.digest('base64'));
  hash.update('b');
  hash.update(new Uint8Array([99]).buffer);
  hash.update('');
  console.log(hash.digest('hex'), Object.keys(hash).join(), typeof hash.update);
  for (const wrong of [undefined, null, 5, {}]) {
    try { hash.update(wrong); console.log(String(wrong), hash.digest('hex')); } catch (e) { console.log(String(wrong), 'threw', e.name); }
  }
}

import k6, { check, sleep } from 'k6';
import * as all from 'k6';
import * as crypto from 'k6/crypto';
import encoding, { b64encode } from 'k6/encoding';
export default function () {
  console.log(typeof k6.check, typeof check, typeof sleep, typeof all.group, typeof crypto.md5, typeof encoding.b64encode, typeof b64encode);
  console.log(Object.keys(k6).sort().join());
}

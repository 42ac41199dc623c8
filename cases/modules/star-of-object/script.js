import * as encoding from 'k6/encoding';
import * as k6 from 'k6';
import * as common from './common.js';
import * as es from './es.js';
import def from './common.js';
import esdef from './es.js';
export default function () {
  console.log(Object.keys(encoding).sort().join(), typeof encoding.default, typeof encoding.b64encode);
  console.log(typeof k6.default, typeof k6.check);
  console.log(Object.keys(common).sort().join(), typeof common.default, common.a, def.a);
  console.log(Object.keys(es).sort().join(), es.default, es.b, esdef);
}

import http, { metrics, k6, names } from './defaults.js';
export default function () {
  console.log(typeof http.get, typeof metrics.Counter, typeof k6.sleep, Object.keys(names).includes('get'), names.default === undefined);
}

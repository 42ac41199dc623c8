import { a, b, c, d, e, f, g, h, i, j, k, get } from './names.js';
import http from 'k6/http';
export default function () {
  console.log([a, b, c, d, e, f, g, h, i, j, k].map(String).join(), get === http.get);
}

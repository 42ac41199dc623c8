import http from 'k6/http';
import { check } from 'k6';
export default class Page {
  constructor(base) { this.base = base; }
  visit(path) { check(http.get(this.base + path), { [`opened ${path}`]: (r) => r.status === 200 }); return this; }
}

import http from 'k6/http';
import Page from './page.js';
export class Shop extends Page {
  #cart = new Map();
  open() { return this.visit('/get/shop'); }
  add(name, count = 1) { this.#cart.set(name, (this.#cart.get(name) ?? 0) + count); http.post(`${this.base}/echo/cart`, { name, count }); return this; }
  get total() { return [...this.#cart.values()].reduce((a, b) => a + b, 0); }
  toString() { return [...this.#cart].map(([name, count]) => `${name}x${count}`).join(' '); }
}

import { parseHTML } from 'k6/html';
import http from 'k6/http';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
const page = parseHTML('<ul><li class=a>x</li><li>y</li></ul>');
export default function () {
  const items = page.find('li');
  show('items', items);
  console.log(Object.keys(page).join() === Object.keys(items).join(), 'find' in items, items.hasOwnProperty('find'), items.propertyIsEnumerable('size'), 'nothing' in items);
  const own = http.get(`${__ENV.BASE}/html`).html();
  console.log(Object.keys(own).join() === Object.keys(items).join(), own.hasOwnProperty('url'), items.hasOwnProperty('url'), items.url);
}

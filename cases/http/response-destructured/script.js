import http from 'k6/http';
import { check } from 'k6';
const parse = ({ status, json }) => `${status} ${json('method')}`;
export default function () {
  const response = http.get(`${__ENV.BASE}/anything?a=1`);
  const { json, html: toHtml, nothing = 'default' } = response;
  console.log(json('method'), json().method, toHtml('p').size(), nothing);
  console.log(parse(response), [response, response].map(parse).join());
  const [{ json: first }, { body, json: second }] = http.batch([`${__ENV.BASE}/anything`, `${__ENV.BASE}/json`]);
  console.log(first('method'), typeof body, typeof second());
  let late;
  ({ json: late } = response);
  console.log(late('method'));
  const name = 'json', { [name]: computed } = response;
  console.log(computed('method'));
  console.log(check(response, { 'has a method': ({ json }) => json('method') === 'GET' }));
  const method = response.json;
  console.log(method('method'), method.call(undefined, 'method'), method.apply({ body: '{}' }, ['method']), method.bind(null)('method'));
  console.log(['method', 'nothing'].map(response.json).map(String).join());
}

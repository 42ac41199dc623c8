import http from 'k6/http';
import { check } from 'k6';
const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
const query = `
  query Items($first: Int!) {
    items(first: $first) { id name }
  }`;
export default function () {
  const res = http.post(`${__ENV.BASE}/back`, JSON.stringify({ query, variables: { first: 3 } }), { headers, tags: { name: 'Items' } });
  check(res, { 'sent the variables': (r) => r.json().variables.first === 3, 'sent the query': (r) => r.json('query').includes('items(first') });
  console.log(res.json('query').trim().split('\n').length, res.json('errors'));
}

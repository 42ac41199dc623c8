import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  for (const path of [undefined, 'id', 'name', 'tags', 'tags.1', 'tags.#', 'nested.deep.value', 'friends.#.first', 'friends.#(age>45).first', 'friends.#(age>45)#.first', 'none', 'yes', 'pi', 'nope', 'tags.9', 'friends.0', 'n*', '']) {
    const value = r.json(path);
    console.log(String(path), typeof value, JSON.stringify(value));
  }
  console.log(r.json() === r.json(), r.json('tags') === r.json('tags'));
}

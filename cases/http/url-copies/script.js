import http from 'k6/http';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
export default function () {
  const url = http.url`http://user:secret@host/${1}`;
  show('url', url);
  const { name, getURL } = url, copy = { ...url };
  console.log(name, typeof getURL, typeof copy.url);
  const file = http.file('data', 'name.txt', 'text/plain');
  show('file', file);
  show('copy', { ...file });
}

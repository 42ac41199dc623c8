import http from 'k6/http';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
export default function () {
  const jar = http.cookieJar();
  show('jar', jar);
  const { set, cookiesForURL, clear } = jar;
  console.log(set(__ENV.BASE, 'a', '1'), JSON.stringify(cookiesForURL(__ENV.BASE)));
  const copy = { ...jar };
  console.log(copy.set(__ENV.BASE, 'b', '2'), Object.keys(jar.cookiesForURL(__ENV.BASE)).sort().join());
  copy.delete(__ENV.BASE, 'a');
  console.log(JSON.stringify(cookiesForURL(__ENV.BASE)));
  clear(__ENV.BASE);
  console.log(JSON.stringify(jar.cookiesForURL(__ENV.BASE)));
}

import http from 'k6/http';
export default function () {
  for (let i = 0; i < 3; i++) http.get(http.url`${__ENV.BASE}/item/${i}?page=${i * 2}`);
  http.get(`${__ENV.BASE}/item/x`, { tags: { name: 'named by tag' } });
  console.log(JSON.stringify(http.url`${1}/a/${2}`));
}

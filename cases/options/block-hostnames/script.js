import http from 'k6/http';
export const options = { blockHostnames: ['*.example', 'Blocked.Test'] };
export default function () {
  for (const host of ['a.example', 'blocked.test']) {
    const r = http.get(`http://${host}/`);
    console.log(r.status, r.error_code, r.error);
  }
}

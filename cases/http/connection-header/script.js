import http from 'k6/http';
export default function () {
  for (const path of ['until-close', 'odd/http-1.0', 'odd/trailers', 'odd/same-lengths', 'odd/length-and-chunks', 'odd/more-than-said']) {
    const r = http.get(`${__ENV.RAW}/${path}`);
    console.log(path, r.status, JSON.stringify(r.headers), r.body, r.proto);
  }
}

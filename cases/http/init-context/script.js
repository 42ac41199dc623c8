import http from 'k6/http';
try { http.get(`${__ENV.BASE}/get`); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
try { http.cookieJar(); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
try { http.batch([`${__ENV.BASE}/get`]); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
export default function () {}

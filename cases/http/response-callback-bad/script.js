import http from 'k6/http';
for (const make of [() => http.expectedStatuses(), () => http.expectedStatuses('200'), () => http.expectedStatuses({ min: 200 }), () => http.setResponseCallback(() => true), () => http.expectedStatuses(200.5)]) {
  try { make(); if (__VU === 0) console.log('allowed'); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
}
export default function () {}

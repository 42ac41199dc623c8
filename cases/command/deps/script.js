import http from 'k6/http';
import './b.js';
import * as m from 'k6/metrics';
export default function () { http.get('http://x'); new m.Counter('a'); }

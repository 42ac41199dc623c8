'use k6 >= v1.0';
'use k6 with k6/x/faker >= v0.3';
import http from 'k6/http';
export default function () {}

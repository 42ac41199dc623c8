import http from 'k6/http';
import exec from 'k6/execution';
export const options = {
  scenarios: {
    readers: { executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'read', tags: { role: 'reader' }, env: { PATH_PART: 'r' } },
    writers: { executor: 'per-vu-iterations', vus: 2, iterations: 1, exec: 'write', env: { PATH_PART: 'w' } },
  },
  thresholds: { 'http_reqs{scenario:readers}': ['count==2'], 'http_reqs{role:reader}': ['count==2'], 'http_reqs{scenario:writers}': ['count==2'] },
};
export function read() { console.log(exec.scenario.name, http.get(`${__ENV.BASE}/get/${__ENV.PATH_PART}`).json('path')); }
export function write() { console.log(exec.scenario.name, http.post(`${__ENV.BASE}/echo/${__ENV.PATH_PART}`, 'x').json('path')); }

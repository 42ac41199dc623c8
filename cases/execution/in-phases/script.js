import exec from 'k6/execution';
function attempt(name, body) { try { console.log(name, JSON.stringify(body())); } catch (e) { console.log(name, 'threw', e.name); } }
const readers = { scenario: () => exec.scenario.name, iteration: () => exec.scenario.iterationInTest, vu: () => exec.vu.idInTest, vus: () => exec.instance.vusActive, tags: () => exec.vu.metrics.tags.scenario };
if (__VU === 0) for (const name of Object.keys(readers)) attempt('init ' + name, readers[name]);
export function setup() { for (const name of Object.keys(readers)) attempt('setup ' + name, readers[name]); }
export default function () { for (const name of Object.keys(readers)) attempt('default ' + name, readers[name]); }
export function teardown() { for (const name of Object.keys(readers)) attempt('teardown ' + name, readers[name]); }

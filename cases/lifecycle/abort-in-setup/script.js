import exec from 'k6/execution';
export function setup() { exec.test.abort('in setup'); }
export default function () { console.log('never'); }
export function teardown() { console.log('teardown'); }

export const options = { iterations: 3, vus: 1 };
export function setup() { return { count: 0 }; }
export default function (data) { data.count++; console.log(data.count); }
export function teardown(data) { console.log('teardown', data.count); }

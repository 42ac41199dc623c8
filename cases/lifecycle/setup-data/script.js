export const options = { vus: 1, iterations: 2 };
export function setup() {
  return { text: 'a', list: [1, { deep: true }], date: new Date(0), no: null };
}
export default function (data) { console.log(JSON.stringify(data), Object.keys(data).join()); }
export function teardown(data) { console.log('teardown', JSON.stringify(data)); }

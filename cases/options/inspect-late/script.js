export let options = { vus: 1, iterations: 5 };
options.vus = 2;
options = { vus: 3, iterations: 6 };
export default function () {}

export let options = { vus: 1 };
options.vus = 5;
options = Object.assign({ iterations: 10 }, options);
export default function () {}

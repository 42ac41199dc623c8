export const options = { iterations: 3, stages: [{ duration: '1s', target: 1 }] };
export default function () {}

export const options = { stages: [{ duration: '1s', target: '5' }] };
export default function () {}

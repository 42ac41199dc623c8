export const options = { stages: [{ duration: '10s' }, { target: 5 }, {}] };
export default function () {}

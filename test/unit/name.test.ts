import { describe, expect, it } from 'vitest';
import {
  encodeName,
  encodePath,
  fileNames,
  filePaths,
  maxNameBytes,
  slug,
} from '../../src/core/names/name.ts';

describe('encodeName', () => {
  it.each([
    ['database-choice', 'database-choice'],
    ['v1.2_final', 'v1.2_final'],
    ['JIRA-1', 'JIRA-1~f'],
    ['jira-1', 'jira-1'],
    ['Git', 'Git~h'],
    ['aBcdefghI', 'aBcdefghI~igh'],
    ['Use JWT', 'Use%20JWT~pj'],
    ['', '%'],
    ['.', '%2e'],
    ['..', '%2e%2e'],
    ['../x', '%2e.%2fx'],
    ['a/b', 'a%2fb'],
    ['a\\b', 'a%5cb'],
    ['.git', '%2egit'],
    ['git~1', 'git%7e1'],
    ['x.', 'x%2e'],
    ['x ', 'x%20'],
    ['-rf', '%2drf'],
    ['+00', '%2b00'],
    ['100%', '100%25'],
    ['a:b*?"<>|', 'a%3ab%2a%3f%22%3c%3e%7c'],
    ['\0\n', '%00%0a'],
    ['con', '%63on'],
    ['CON.txt', '%43ON.txt~j'],
    ['com1.a.b', '%63om1.a.b'],
    ['console', 'console'],
    ['com10', 'com10'],
    ['naïve', 'naïve'],
    ['日本語', '日本語'],
    ['привет', 'привет'],
    ['Привет', '%d0%9fривет'],
    ['e\u0301', 'e%cc%81'],
    ['straße', 'stra%c3%9fe'],
    ['ﬁ', '%ef%ac%81'],
    ['a\u202eb', 'a%e2%80%aeb'],
    ['a\u200db', 'a%e2%80%8db'],
    ['🔴', '%f0%9f%94%b4'],
    ['\ud800', '%ed%a0%80'],
    ['__proto__', '__proto__'],
  ])('%j becomes %s', (text, name) => {
    expect(encodeName(text)).toBe(name);
  });

  it('cuts a long text and keeps it apart from its neighbours', () => {
    const texts = ['a'.repeat(4096), `${'a'.repeat(4095)}b`, 'ж'.repeat(91), '/'.repeat(100)];
    const names = texts.map(encodeName);
    expect(new Set(names).size).toBe(texts.length);
    for (const name of names) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(maxNameBytes);
      expect(name).toMatch(/^(?:a+|ж+|(?:%2f)+)~~[0-9a-f]{20}$/);
    }
    expect(encodeName('a'.repeat(maxNameBytes))).toBe('a'.repeat(maxNameBytes));
  });

  it('keeps long texts apart that differ in a lone surrogate', () => {
    const long = 'a'.repeat(500);
    expect(encodeName(`${long}\ud800`)).not.toBe(encodeName(`${long}\ud801`));
  });
});

describe('encodePath', () => {
  it('encodes each segment', () => {
    expect(encodePath('auth/OAuth/a b')).toBe('auth/OAuth~j/a%20b');
    expect(encodePath('../a//b')).toBe('%2e%2e/a/%/b');
  });

  it('gives no folder the name of a record file', () => {
    expect(encodePath('a.yaml/b.md/c.yaml')).toBe('a%2eyaml/b%2emd/c.yaml');
    expect(encodePath('.yaml/x')).toBe('%2eyaml/x');
  });
});

describe('fileNames', () => {
  it.each([
    ['database-choice', 'database-choice', undefined],
    ['v1.2_final', 'v1.2_final', undefined],
    ['GOT-12', 'got-12', 'GOT-12~n'],
    ['Ada', 'ada', 'Ada~h'],
    ['Use JWT', 'use-jwt', 'Use%20JWT~pj'],
    ['e\u0301', 'é', 'e%cc%81'],
    ['Straße', 'strasse', 'Stra%c3%9fe~h'],
    ['CON', 'untitled-con', '%43ON~j'],
    ['nul.txt', 'untitled-nul.txt', '%6eul.txt'],
    ['../x', 'x', '%2e.%2fx'],
    ['x.', 'x', 'x%2e'],
    ['🔴', 'untitled', '%f0%9f%94%b4'],
  ])('%j is in %s, or else with a hash or in %s', (key, readable, encoded) => {
    const [first, second, third] = fileNames(key);
    expect([first, third]).toEqual([readable, encoded]);
    expect(second).toMatch(/-[0-9a-f]{6}$/);
    expect(second?.slice(0, -7)).toBe(readable);
  });

  it('gives keys that differ in case or Unicode form different second names', () => {
    const keys = ['ada', 'Ada', 'ADA', 'é', 'e\u0301', 'É'];
    expect(new Set(keys.map((key) => fileNames(key)[1])).size).toBe(keys.length);
  });

  it('cuts a long key at a word', () => {
    const [name = ''] = fileNames(`Why ${'we decided '.repeat(30)}`);
    expect(name).toBe('why-we-decided-we-decided-we-decided-we-decided-we');
  });
});

describe('filePaths', () => {
  it('keeps the folders of a path', () => {
    expect(filePaths('src/App.tsx')[0]).toBe('src/app.tsx');
    expect(filePaths('.github/CODEOWNERS')[0]).toBe('github/codeowners');
    expect(filePaths('A.yaml/b')[0]).toBe('a-yaml/b');
    expect(filePaths('src/app.tsx')[0]).toBe('src/app.tsx');
  });
});

describe('slug', () => {
  it.each([
    ['Use JWT for **authentication**!', 'use-jwt-for-authentication'],
    ["Don't panic", 'dont-panic'],
    ['# `snake_case` & kebab-case', 'snake-case-kebab-case'],
    ['Überprüfung der Straße', 'überprüfung-der-strasse'],
    ['e\u0301te\u0301', 'été'],
    ['日本語の設計', '日本語の設計'],
    ['การออกแบบ', 'การออกแบบ'],
    ['🔴 🔴', 'untitled'],
    ['', 'untitled'],
    ['../..', 'untitled'],
    ['CON', 'untitled-con'],
    ['a\u202eb', 'a-b'],
    ['ﬁle №5', 'file-no5'],
  ])('%j becomes %s', (text, name) => {
    expect(slug(text)).toBe(name);
  });

  it('cuts at a word, and within a word only when there is no other place', () => {
    expect(slug('one two three', 9)).toBe('one-two');
    expect(slug('one two three', 7)).toBe('one-two');
    expect(slug('a'.repeat(100))).toBe('a'.repeat(60));
    expect(slug(`${'x'.repeat(20)}𠀀𠀀`, 21)).toBe('x'.repeat(20));
    expect(slug(`${'x'.repeat(20)}กำ`, 21)).toBe('x'.repeat(20));
  });
});

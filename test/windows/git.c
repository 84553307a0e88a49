/*
 * git.exe of the Windows bench: runs the git of the machine, through the server in git-server.js.
 *
 * The file "port" next to this program names the port on 127.0.0.1. A request is its length (4 bytes, little
 * endian) and texts in UTF-8 that end in a zero byte: the folder, each argument, an empty text, each variable
 * of the environment. The input follows in pieces: a length (4 bytes), which is 0 at the end, and the content.
 * The answer is a sequence of frames: a kind (1 byte: 1 output, 2 errors, 0 exit status), a length (4 bytes)
 * and the content.
 */
#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BROKEN = 128, CHUNK = 65536 };

static SOCKET server;
static char *request;
static unsigned size, room;

static void fail(const char *reason) {
  fprintf(stderr, "git.exe: %s\n", reason);
  ExitProcess(BROKEN);
}

static void add(const wchar_t *text) {
  int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  if (size + length > room) {
    room = 2 * (size + length);
    request = realloc(request, room);
    if (request == NULL) fail("out of memory");
  }
  WideCharToMultiByte(CP_UTF8, 0, text, -1, request + size, length, NULL, NULL);
  size += length;
}

static BOOL send_all(const char *bytes, unsigned length) {
  while (length > 0) {
    int sent = send(server, bytes, length, 0);
    if (sent <= 0) return FALSE;
    bytes += sent;
    length -= sent;
  }
  return TRUE;
}

static BOOL send_sized(const char *bytes, unsigned length) {
  const char head[4] = {length, length >> 8, length >> 16, length >> 24};
  return send_all(head, sizeof head) && send_all(bytes, length);
}

static void receive(char *bytes, unsigned length) {
  while (length > 0) {
    int received = recv(server, bytes, length, 0);
    if (received <= 0) fail("the connection broke");
    bytes += received;
    length -= received;
  }
}

static unsigned number(const unsigned char *bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (unsigned)bytes[3] << 24;
}

static DWORD WINAPI forward_input(LPVOID unused) {
  static char bytes[CHUNK];
  HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
  DWORD length;
  do {
    if (!ReadFile(input, bytes, sizeof bytes, &length, NULL)) length = 0;
  } while (send_sized(bytes, length) && length > 0);
  return 0;
}

static unsigned short read_port(void) {
  wchar_t path[32768];
  DWORD length = GetModuleFileNameW(NULL, path, 32000);
  while (length > 0 && path[length - 1] != L'\\') length -= 1;
  wcscpy(path + length, L"port");
  FILE *file = _wfopen(path, L"r");
  unsigned port = 0;
  if (file == NULL || fscanf(file, "%u", &port) != 1) fail("no port");
  fclose(file);
  return port;
}

int wmain(int count, wchar_t **arguments) {
  WSADATA data;
  struct sockaddr_in address = {0};
  WSAStartup(MAKEWORD(2, 2), &data);
  server = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_port = htons(read_port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(server, (struct sockaddr *)&address, sizeof address)) fail("no server");

  wchar_t folder[32768];
  GetCurrentDirectoryW(32768, folder);
  add(folder);
  for (int i = 1; i < count; i++) {
    /* An empty argument would look like their end. */
    add(*arguments[i] ? arguments[i] : L"\x01");
  }
  add(L"");
  for (wchar_t *entry = GetEnvironmentStringsW(); *entry; entry += wcslen(entry) + 1) add(entry);
  if (!send_sized(request, size)) fail("the connection broke");
  CreateThread(NULL, 0, forward_input, NULL, 0, NULL);

  for (;;) {
    static char content[CHUNK];
    unsigned char head[5];
    receive((char *)head, 5);
    unsigned rest = number(head + 1);
    if (head[0] == 0) {
      receive(content, 1);
      ExitProcess((unsigned char)content[0]);
    }
    HANDLE output = GetStdHandle(head[0] == 1 ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
    while (rest > 0) {
      unsigned part = rest < CHUNK ? rest : CHUNK;
      DWORD written = 0;
      receive(content, part);
      for (unsigned done = 0; done < part; done += written) {
        /* The reader is gone: git ends like this when it writes to a closed pipe. */
        if (!WriteFile(output, content + done, part - done, &written, NULL)) ExitProcess(BROKEN + 13);
      }
      rest -= part;
    }
  }
}

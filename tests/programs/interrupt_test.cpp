#include <halfgrad/programs/interrupt.h>

#include <csignal>
#include <functional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace programs {
namespace {

/// Returns the wait status of a child process that runs `body` and exits with its status.
int status_of(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    remember_interrupts();
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Interrupt, TheFirstSignalIsRemembered) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = status_of([number] {
      raise(number);
      return is_interrupted() ? interrupted_status() : 0;
    });
    ASSERT_TRUE(WIFEXITED(status)) << number;
    EXPECT_EQ(WEXITSTATUS(status), 128 + number);
  }
}

// timeout(1) sends a signal to its child, and then to the group of both.
TEST(Interrupt, ASignalThatIsSentTwiceAtOnceCountsOnce) {
  const int status = status_of([] {
    raise(SIGTERM);
    raise(SIGTERM);
    return interrupted_status();
  });
  ASSERT_TRUE(WIFEXITED(status)) << "ended by the second signal";
  EXPECT_EQ(WEXITSTATUS(status), 143);
}

TEST(Interrupt, ALaterSignalEndsTheProgram) {
  const int status = status_of([] {
    raise(SIGINT);
    usleep(200'000);
    raise(SIGTERM);
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

}  // namespace
}  // namespace programs
